/** How a child's Node is started, besides what its confinement needs. */
export const RUNNER_FLAGS: readonly string[] = [
  // What isolated-vm asks for.
  '--no-node-snapshot',
  // The guest's stack (conventions, "Limits"), in KiB.
  '--stack-size=512',
  // The last stage of the compiler leaves the checks for interrupts out of loops that only call built-ins: such a loop
  // passes by its time limit and the memory limit. Without it, code is about as fast and there is less to attack.
  '--no-turbofan',
  // Fewer threads, and smaller young generations.
  '--v8-pool-size=1',
  '--max-semi-space-size=1',
];
