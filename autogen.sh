#!/bin/sh
autoreconf --install --force "$(dirname "$0")"
