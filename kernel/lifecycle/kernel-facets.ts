import type { Context } from 'koa';
import { capabilities } from '../capabilities/capability.ts';
import type { Deferral } from '../events.ts';
import { facet } from '../facets.ts';

/** The order in which a request passes the layers; within a phase, plugin order. */
export const PHASES = ['edge', 'identify', 'limit', 'cache', 'route'] as const;
export type Phase = (typeof PHASES)[number];

export interface Middleware {
  readonly name: string;
  readonly phase: Phase;
  handle(ctx: Context, next: () => Promise<void>): Promise<void> | void;
}

/** Layers around every request. The manifest section lists the phases a plugin adds to. */
export const middleware = facet<Middleware, readonly (Middleware & { owner: string })[]>('http.middleware', {
  combine: (all) =>
    PHASES.flatMap((phase) =>
      all.filter((one) => one.value.phase === phase).map((one) => ({ ...one.value, owner: one.owner })),
    ),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['phases'],
    properties: { phases: { type: 'array', items: { enum: PHASES }, minItems: 1 } },
  },
  admit: (one, declared) => declared.phases.includes(one.phase) || `phase ${one.phase} is not declared`,
  describe: (declared) => [`sees every request (${declared.phases.join(', ')})`],
});

export type CheckStatus = 'ok' | 'warn' | 'error';

export interface HealthCheck {
  readonly name: string;
  readonly componentType: string;
  /** Milliseconds above which a working component counts as slow. */
  readonly threshold?: number;
  /** Resolves with the observed value (milliseconds unless `unit` says otherwise); rejecting means failing. */
  check(): Promise<{ value: number; unit?: string; status?: CheckStatus }>;
}

/** Named checks behind the health route, and whether the process is draining. */
export const health = facet<HealthCheck>('health', { describe: () => ['reports on its health'] });

export interface KernelCommand {
  readonly name: string;
  readonly about: string;
  /** The service is prepared and started first, as for requests, but does not listen. */
  readonly needs?: 'start';
  /** Answers the exit code, where it is not 0. */
  run(args: readonly string[]): Promise<number | undefined>;
}

/** Commands of the command line beside `start` and `bootstrap`. */
export const commands = facet<KernelCommand, ReadonlyMap<string, KernelCommand>>('commands', {
  combine: (all) => new Map(all.map(({ value }) => [value.name, value])),
  describe: () => ['adds commands to the command line'],
});

/** Whoever holds transactions says here when an effect may happen. */
export const effects = facet<Deferral>('effects', { describe: () => ['holds effects back until they are certain'] });

export const KERNEL_FACETS = [capabilities, health, commands, middleware, effects] as const;
