import type { Log } from '#kernel';
import type { SettingsStatus } from '../../extension-settings/contract.ts';
import type { ConfinedRuntimeState } from '../../sandbox/contract.ts';
import type { DiscoveredExtension, ExtensionAppBundle, LoadedExtension, LoadFailure } from '../extension-types.ts';
import type { ExtensionLoadSlot } from './extension-load-state.ts';

export const EXTENSION_LOAD_PHASES = ['hooks', 'endpoints', 'operations', 'bundles'] as const;

/** One phase of a load: all extensions of one kind are loaded before those of the next. */
export type LoadPhase = (typeof EXTENSION_LOAD_PHASES)[number];
/** The phases in the order in which confined extensions load (conventions, "Mounting, order, collisions"). */
export const CONFINED_LOAD_ORDER = [
  'operations',
  'endpoints',
  'hooks',
  'bundles',
] as const satisfies readonly LoadPhase[];

/** Steps for confined packages: `passGate` validates, `load` registers what passed. */
export interface ConfinedLoadSteps<Gated> {
  passGate(extension: DiscoveredExtension): Promise<Gated>;
  load(gated: Gated, phase: LoadPhase): Promise<LoadedExtension>;
  /** Packages whose contributions have the same name as another one's, each with its failure; by id. */
  findAmbiguous(all: readonly Gated[]): ReadonlyMap<string, LoadFailure>;
}

/** What a load of extensions needs from other parts of the service. */
export interface LoadDeps {
  discover(): Promise<readonly DiscoveredExtension[]>;
  /** Why an extension that is not confined may not load; undefined if it may. */
  consent(extension: DiscoveredExtension): Promise<LoadFailure | undefined>;
  loadFull(extension: DiscoveredExtension, phase: LoadPhase): Promise<LoadedExtension>;
  readonly confined: ConfinedLoadSteps<unknown>;
  /** Detects the state of the confined runtime. */
  runtime(): Promise<ConfinedRuntimeState>;
  /** The state so far, also where no package needs the runtime. */
  runtimeState(): ConfinedRuntimeState;
  /** Registers the settings of all extensions before their code runs. Answers each status by id. */
  settings(all: readonly DiscoveredExtension[]): ReadonlyMap<string, SettingsStatus>;
  readonly appBundle: ExtensionAppBundle;
  /** Called before these extensions are unloaded or loaded. */
  beforeLoad(slots: readonly ExtensionLoadSlot[]): void;
  /** Called after a load, and after an extension failed or recovered. */
  afterLoad(): Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}
