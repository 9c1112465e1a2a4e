/** Flags of the child's Node, besides those of the confinement. */
export const CHILD_NODE_FLAGS: readonly string[] = [
  // isolated-vm requires this flag.
  '--no-node-snapshot',
  // The guest's stack (conventions, "Limits"), in KiB.
  '--stack-size=512',
  // The last stage of the compiler leaves the checks for interrupts out of loops that only call built-ins: such a loop
  // ignores its time and memory limits. Without the compiler code is about as fast and the attack surface is smaller.
  '--no-turbofan',
  // Most of the heap are released realms, so there is little to mark, and incremental marking beside the guests costs
  // more than it saves.
  '--no-incremental-marking',
  // These features are installed in each realm and take a seventh of its creation time. Artifacts are compiled to work
  // without explicit resource management. Of the others, guests have a use for Float16Array only.
  '--no-js-explicit-resource-management',
  '--no-js-float16array',
  '--no-js-source-phase-imports',
  '--no-js-atomics-pause',
  // Fewer threads, and smaller young generations.
  '--v8-pool-size=1',
  '--max-semi-space-size=1',
];
