#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# long.sh TOP SECONDS [TARGET...]: runs the libFuzzer programs of this build for
# that many seconds each, one after the other, niced.  Corpora grow in
# fuzz-corpus/TARGET below the build folder, findings are in fuzz-found/.  Stops
# at nothing: a target that crashed starts again where it was, as what it found
# is in its corpus's neighbourhood.
top=${1:?the top of the sources} seconds=${2:?seconds} ; shift 2
[ $# -gt 0 ] || set -- parse rewrite script flags supp events ev detect
here=$PWD
mkdir -p fuzz-found

# seeds TARGET: the folders and suffix that its C file names
seed()
{
	dir=$here/fuzz-corpus/$1
	[ -d "$dir" ] || {
		mkdir -p "$dir"
		cp "$top"/testsuite/fuzz/corpus/"$1"/* "$top"/testsuite/fuzz/found/"$1"/* "$dir" 2>/dev/null
		case $1 in
		parse|rewrite) set -- parse err rewrite race norace ;;
		script) set -- race norace ;;
		ev) set -- $(cd "$top/testsuite" && echo detect/*/) ;;
		detect) set -- $(cd "$top/testsuite" && echo detect/*/) fuzz/corpus/ev ;;
		*) set -- ;;
		esac
		for folder; do
			for file in "$top/testsuite/$folder"/*.ptx "$top/testsuite/$folder"/*.ev; do
				[ -f "$file" ] && cp "$file" "$dir/$(echo "$folder" | tr / -)-$(basename "$file")"
			done
		done
	}
}

# Words of the languages, from the tables that the parsers are made of.
words()
{
	case $1 in
	parse|rewrite)
		sed -nE 's/^(MOD|TYPE|SREG|DIR)[A-Z]*\([^"]*"([^"]+)".*/"\2"/p' "$top/ptxparse/kw.def"
		sed -nE 's/^INST\([A-Za-z0-9_]+, *"([^"]+)".*/"\1"/p' "$top/ptxparse/inst.def" ;;
	script)
		grep -hoE '"[a-z]+[a-z0-9:=-]*"' "$top/run/script.c" ;;
	flags)
		sed -nE 's/^(BOOL|INT|TEXT)\(([a-z_]+),.*/"\2="/p' "$top/rt/flags.def" ;;
	supp)
		sed -nE 's/^KIND\([A-Z_]+, *("[^"]+")\).*/\1/p' "$top/rt/kinds.def"
		printf '"race:"\n"race_top:"\n"kernel:"\n"\\x00"\n' ;;
	events)
		printf '"\\x01nsg"\n' ;;
	ev|detect)
		sed -nE 's/^EVENT\([A-Z_]+, ("[^"]+").*/\1/p' "$top/event/event.def"
		grep -oE '(OPERAND\([A-Z_]+, [A-Z_0-9]+|SITE\(|MODIFIER\()[, ]*"[^"]+"' "$top/event/event.def" |
			sed -E 's/^OPERAND.*"([^"]+)"/"\1="/; s/^SITE.*"([^"]+)"/"\1="/; s/^MODIFIER.*"([^"]+)"/".\1"/'
		grep -oE '"[a-z]+[0-9]?"' "$top/testsuite/detect/ev.c" ;;
	esac | sort -u
}

for target; do
	seed "$target"
	words "$target" >"fuzz-$target.dict"
	end=$(($(date +%s) + seconds))
	while left=$((end - $(date +%s))); [ $left -gt 0 ]; do
		nice -n 19 "testsuite/fuzz/long_$target" -max_total_time=$left -max_len=16384 -timeout=20 \
			-rss_limit_mb=3000 -dict="fuzz-$target.dict" -close_fd_mask=2 -print_final_stats=1 \
			-artifact_prefix="fuzz-found/$target-" "fuzz-corpus/$target" >>"fuzz-$target.log" 2>&1
		# A target that dies at once would spin.
		[ $? = 0 ] || sleep 5
	done
	grep -E '^(Done|stat::number_of_executed|==|SUMMARY)' "fuzz-$target.log" | tail -n 4
done
find fuzz-found -type f | sed 's/^/found: /'
