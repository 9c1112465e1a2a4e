/** How a child's Node is started, besides what its confinement needs. */
export const RUNNER_FLAGS: readonly string[] = [
  // What isolated-vm asks for.
  '--no-node-snapshot',
  // The guest's stack (conventions, "Limits"), in KiB.
  '--stack-size=512',
  // The last stage of the compiler leaves the checks for interrupts out of loops that only call built-ins: such a loop
  // passes by its time limit and the memory limit. Without it, code is about as fast and there is less to attack.
  '--no-turbofan',
  // Most of what is in the heap are rooms that were left, so there is little to mark, and doing that in steps beside
  // the guests costs more than it spares them.
  '--no-incremental-marking',
  // Put into each room anew, and together a seventh of what a room takes. Artifacts are compiled to do without the
  // first; the others are for what guests do not have, but for the second.
  '--no-js-explicit-resource-management',
  '--no-js-float16array',
  '--no-js-source-phase-imports',
  '--no-js-atomics-pause',
  // Fewer threads, and smaller young generations.
  '--v8-pool-size=1',
  '--max-semi-space-size=1',
];
