# SPDX-License-Identifier: Apache-2.0
#
# Graphs: each node of each launch has a log of its own, whatever the
# program changes in between.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/rt/lib.sh"

# watched COMMAND...: race 0, and no other, is found, in as many launches as it says
watched()
{
	launches=$1
	shift
	go 66 "report_delay_ms=60000" use:0 "$@" sync
	count 1 "WARNING: GSan"
	has err "Write of size 4 at 0x"
	has err "GSan: 1 finding; $launches launch"
	hasnt out "without their parameter"
	hasnt err "not watched"
}

# Nodes are added by either function, and instantiated by all.
for node in node node-any node-old node-any-old; do
	for how in flags log params old; do
		watched 1 load $node:0 instantiate:$how launch
		has err "Launch #1 of ring<<<(2,1,1),(8,4,1)>>> on stream 0x0"
		has err "; 1 graph launch"
	done
done
watched 3 load gate:0 node:0 instantiate:flags launch launch launch open:0
has err "; 3 graph launches"
has err "[3 times]"
# Of a library's kernels and functions, as well.
watched 1 library node:0 instantiate:flags launch
watched 1 library functions node-any:0 instantiate:flags launch
# Launches have numbers in a graph as elsewhere.
watched 5 load graph:flat:1 node:0 node:0 instantiate:flags launch
go 66 "" use:0 load node:2 node:0 instantiate:flags launch sync
has err "Launch #1 of ring<<<(2,2,1),(64,1,1)>>>"
has err "Launch #2 of ring<<<(2,1,1),(8,4,1)>>>"
# Into a stream.
watched 1 load node:0 instantiate:flags stream launch
hasnt err "on stream 0x0"

# Parameters that change in the graph, and in what was instantiated.
for set in set-node set-node-any set-node-old; do
	watched 1 load node:2 $set:0 instantiate:flags launch
done
for set in set set-any set-old; do
	watched 1 load node:2 instantiate:flags $set:0 launch
	go 66 "" use:0 load node:2 instantiate:flags launch $set:0 launch sync
	count 2 "WARNING: GSan"
	has err "GSan: 2 findings; 2 launches"
done
for update in update update-old; do
	watched 1 load node:2 instantiate:flags set-node:0 $update launch
done
# What was instantiated keeps what it was.
watched 1 load node:0 instantiate:flags set-node:2 launch
# Nodes that are off.
go 3 "" use:0 load node:0 instantiate:flags disable launch run:_Z4ringPi sync
has err "GSan: 0 findings; 1 launch"
watched 1 load node:2 node:0 instantiate:flags disable launch

# Graphs in graphs.
watched 1 load node:0 nest instantiate:flags launch
watched 2 load gate:0 node:0 nest nest instantiate:flags launch launch open:0

# A graph in what was instantiated becomes another one.
watched 1 load node:2 nest instantiate:flags new node:0 set-child launch
go 66 "" use:0 load node:2 nest instantiate:flags launch new node:0 set-child launch sync
count 2 "WARNING: GSan"
has err "GSan: 2 findings; 2 launches"

# A node in it that has changed is what it is, whatever is launched: in what is instantiated later.
go 66 "" use:0 load node:2 nest instantiate:flags inner set-node:0 launch instantiate:flags launch sync
count 2 "WARNING: GSan"
has err "GSan: 2 findings; 2 launches"

# Memory of a graph, as long as that is there.
go 66 "" use:0 load graph-memory:4096 race:0 sync
has err "Location is global memory, 64 bytes inside a 4096-byte allocation at 0x"
go 66 "" use:0 load graph-memory:4096 drop-graph race:0 sync
hasnt err "-byte allocation"

# A graph that the program has destroyed; what was made of it goes on, and goes.
watched 2 load gate:0 node:0 instantiate:flags drop-graph launch launch open:0
watched 1 load node:0 instantiate:flags launch drop-graph drop-exec
watched 1 load node:0 instantiate:flags launch drop-exec drop-graph

# What is captured is watched when its graph is launched, not before.
go 3 "" use:0 load stream capture race:0 captured run:_Z4ringPi sync
has err "GSan: 0 findings; 1 launch"
watched 2 load stream gate:0 capture race:0 captured instantiate:flags launch launch open:0

# A kernel that is not instrumented, and one that is not to be watched.
go 3 "" use:0 bare graph:_Z4copyPi:2 sync
has err "; 2 graph launches; 4 launches of kernels that are not instrumented; not instrumented: copy"
go 3 "" use:0 load graph:alone:2 sync
hasnt err "not watched"
go 3 "" use:0 load graph:_Z4leftPi:2 run:_Z4ringPi sync
has err "; 4 launches of kernels that are not instrumented"

# The driver does not change nodes, or launches nothing.
FAKE_FAIL=cuGraphExecKernelNodeSetParams:1
export FAKE_FAIL
go 3 "" use:0 load node:0 instantiate:flags launch sync
has err "GSan: a launch is not watched: a graph's node cannot be told where to log"
has err "; 1 launch that could not be watched"
hasnt out "without their parameter"
FAKE_FAIL=cuGraphKernelNodeSetParams:1
go 3 "" use:0 load node:0 nest instantiate:flags launch sync
has err "GSan: a launch is not watched: a graph's node cannot be told where to log"
FAKE_FAIL=cuGraphLaunch:1
go 3 "" mayfail use:0 load node:0 instantiate:flags launch sync
has err "GSan: nothing was watched: no kernel was launched; cuGraphLaunch failed"
hasnt err "lost"
unset FAKE_FAIL
# No memory for one of the nodes; the others are watched.
go 66 "log_mb=1" use:0 load wide:1000 node:2 wide:1 node:0 instantiate:flags launch sync
count 1 "WARNING: GSan"
has err "; 1 launch that could not be watched"

done_testing
