import type { Log } from '#kernel';
import type { SettingsStatus } from '../../extension-settings/contract.ts';
import type { RuntimeState } from '../../sandbox/contract.ts';
import type { AppBundle, DiscoveredExtension, LoadedExtension, LoadFailure } from '../model.ts';
import type { Slot } from './slot.ts';

export const PHASES = ['hooks', 'endpoints', 'operations', 'bundles'] as const;

/** One round of a load: all extensions of one kind are loaded before those of the next. */
export type Phase = (typeof PHASES)[number];
/** The order of confined ones (conventions, "Mounting, order, collisions"). */
export const CONFINED_PHASES = ['operations', 'endpoints', 'hooks', 'bundles'] as const satisfies readonly Phase[];

/** Confined packages: `gate` decides, `load` registers what it let through. */
export interface ConfinedSteps<Gated> {
  passGate(found: DiscoveredExtension): Promise<Gated>;
  load(gated: Gated, phase: Phase): Promise<LoadedExtension>;
  /** Those that cannot be told apart, each with why. */
  findAmbiguous(all: readonly Gated[]): ReadonlyMap<string, LoadFailure>;
}

/** What loading consists of. */
export interface LoadDeps {
  discover(): Promise<readonly DiscoveredExtension[]>;
  /** Why something that is not confined may not load; undefined where it may. */
  consent(found: DiscoveredExtension): Promise<LoadFailure | undefined>;
  loadFull(found: DiscoveredExtension, phase: Phase): Promise<LoadedExtension>;
  readonly confined: ConfinedSteps<unknown>;
  /** Resolves the confined runtime. */
  runtime(): Promise<RuntimeState>;
  /** Makes settings known, before any code that reads them runs; by id. */
  settings(all: readonly DiscoveredExtension[]): ReadonlyMap<string, SettingsStatus>;
  readonly appBundle: AppBundle;
  /** Called before these leave or are loaded. */
  beforeLoad(slots: readonly Slot[]): void;
  /** Called when what runs has changed. */
  afterLoad(): Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}
