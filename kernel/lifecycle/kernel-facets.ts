import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context } from 'koa';
import { authorities, capabilities } from '../capabilities/capability.ts';
import type { AfterCommitQueue } from '../events.ts';
import { facet } from '../facets.ts';
import { closedObjectSchema, nonEmptyListSchema } from '../manifest/schema.ts';

/** Phases of middleware, outermost first. Within a phase, middleware runs in plugin order. */
export const MIDDLEWARE_PHASES = ['edge', 'limit', 'identify', 'cache', 'route'] as const;

/** A layer around every request that reaches it. `ctx.state.caller` is known after the phase `identify`. */
export interface Middleware {
  readonly name: string;
  readonly phase: (typeof MIDDLEWARE_PHASES)[number];
  handle(ctx: Context, next: () => Promise<void>): Promise<void> | void;
}

export type OwnedMiddleware = Middleware & { readonly owner: string };

/** Facet of middleware around every request. The manifest section lists the phases a plugin adds to. */
export const middleware = facet<Middleware, readonly OwnedMiddleware[]>('http.middleware', {
  combine: (all) =>
    MIDDLEWARE_PHASES.flatMap((phase) =>
      all.filter((one) => one.value.phase === phase).map((one) => ({ ...one.value, owner: one.owner })),
    ),
  manifest: closedObjectSchema({ phases: nonEmptyListSchema({ enum: MIDDLEWARE_PHASES }) }),
  validate: (one, declared) => declared.phases.includes(one.phase) || `phase ${one.phase} is not declared`,
  describe: (declared) => authorities('handles requests in the phase', declared.phases),
});

/** A command of the command line: `tenon <name> …`. */
export interface KernelCommand {
  readonly name: string;
  readonly about: string;
  /** `start`: core plugins are migrated and started first, and do not listen. `migrate`: all plugins are migrated, and none is started. */
  readonly needs?: 'start' | 'migrate';
  /** Runs before what `needs` names. For arguments that make no sense it prints why, and answers the exit code; `run` is not called then. */
  check?(args: readonly string[]): number | undefined;
  /** Resolves to the exit code; undefined is 0. `start` migrates and starts the service, and answers what commands that added. */
  run(args: readonly string[], start: () => Promise<ReadonlyMap<string, KernelCommand>>): Promise<number | undefined>;
}

/** Facet of the commands of the command line beside `start` and `bootstrap`. */
export const commands = facet<KernelCommand, ReadonlyMap<string, KernelCommand>>('commands', {
  combine: (all) => new Map([...all].reverse().map(({ value }) => [value.name, value])),
  describe: () => authorities('contributes to', ['the command line']),
});

/** Facet of after-commit queues: the plugin that holds transactions keeps actions of events there until the commit. */
export const afterCommitQueues = facet<AfterCommitQueue>('effects', {
  coreOnly: true,
  describe: () => authorities('contributes to', ['effects'], 'holds them back until they are certain'),
});

/** A protocol that takes over the connection of a request with `Connection: upgrade`. */
export interface Upgrade {
  /** The whole path, for example `/websocket`. */
  readonly path: string;
  /** Takes over the socket: it answers, ends and destroys it. Errors of the socket need no listener. */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Facet of upgrade handlers by path; the manifest section lists the paths, `/*` for one of a setting. Others are answered with 404. */
export const upgrade = facet<Upgrade, ReadonlyMap<string, Upgrade>>('http.upgrade', {
  combine: (all) => new Map([...all].reverse().map(({ value }) => [value.path, value])),
  manifest: closedObjectSchema({ paths: nonEmptyListSchema({ type: 'string', pattern: '^/' }) }),
  validate: ({ path }, { paths }) => paths.includes(path) || paths.includes('/*') || `${path} is not declared`,
  describe: (declared) => authorities('serves', declared.paths, 'by connections that stay open'),
});

export const KERNEL_FACETS = [capabilities, commands, middleware, afterCommitQueues, upgrade] as const;
