/** Layers of confinement, in the order of listing (conventions of confinement, "Posture"). */
export const CONFINEMENT_LAYERS = [
  'isolate',
  'process',
  'no-new-privileges',
  'unprivileged-user',
  'filesystem',
  'network',
  'process-namespace',
  'seccomp',
  'rlimits',
  'memory-limit',
  'pids-limit',
  'cpu-limit',
] as const;
export type ConfinementLayer = (typeof CONFINEMENT_LAYERS)[number];

/** Layers without which no confined code runs in either mode. */
export const MINIMUM_CONFINEMENT_LAYERS: readonly ConfinementLayer[] = ['isolate', 'process', 'memory-limit'];
/** Layers without which no confined code runs in mode `required`. */
export const CONFINEMENT_LAYERS_OF_REQUIRED_MODE: readonly ConfinementLayer[] = CONFINEMENT_LAYERS.filter(
  (layer) => layer !== 'pids-limit' && layer !== 'cpu-limit',
);

/** The result of the self-test. A layer is in `applied` only where a self-test child has proved it. */
export interface Posture {
  readonly mode: 'auto' | 'required';
  readonly decision: 'run' | 'refuse';
  readonly applied: readonly ConfinementLayer[];
  readonly missing: readonly ConfinementLayer[];
  readonly cgroupMechanic: 'cgroup-v2' | 'cgroup-v1' | 'systemd-run' | null;
}
