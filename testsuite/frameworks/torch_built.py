# SPDX-License-Identifier: Apache-2.0
"""Uses the extension that torch_setup.py has built, from the folder racy or right.

torch_built.py racy|right
"""
import sys

import torch  # the extension needs its libraries

sys.path.insert(0, sys.argv[1])
import torch_extension

sys.exit(torch_extension.run())
