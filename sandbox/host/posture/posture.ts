/** Layers of confinement, in the order in which they are listed (conventions of confinement, "Posture"). */
export const LAYERS = [
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
export type Layer = (typeof LAYERS)[number];

/** Without these nothing runs, whatever the mode. */
export const MINIMUM_LAYERS: readonly Layer[] = ['isolate', 'process', 'memory-limit'];
/** What `required` demands. */
export const REQUIRED_LAYERS: readonly Layer[] = LAYERS.filter(
  (layer) => layer !== 'pids-limit' && layer !== 'cpu-limit',
);

/** Each layer was proved by a self-test child before it stands under `applied`. */
export interface Posture {
  readonly mode: 'auto' | 'required';
  readonly decision: 'run' | 'refuse';
  readonly applied: readonly Layer[];
  readonly missing: readonly Layer[];
  readonly cgroupMechanic: 'cgroup-v2' | 'cgroup-v1' | 'systemd-run' | null;
}
