import { setImmediate as tick } from 'node:timers/promises';
import { expect } from 'chai';
import { authorities, type Caller, type EventMeta, facet, type Host, type LedgerEntry, service } from '#kernel';
import { type TestPlugin, thirdPartyLoaders, withBootedTestPlugins } from '../../support/test-plugins.ts';

// biome-ignore lint/suspicious/noExplicitAny: a cheating plugin uses what it did not declare
export type AnyHost = Host<any>;

/** A service of the core plugin of these tests, with one method that takes a caller and one property. */
export interface ServiceWithCaller {
  balance(caller: Caller): string;
  readonly name: string;
}

export const serviceWithCaller = service<ServiceWithCaller>('bank', { version: '1.0.0', callers: { balance: 0 } });
export const coreOnlyService = service<{ open(): string }>('vault', { version: '1.0.0', coreOnly: true });
export const unrestrictedService = service<{ now(): string }>('clock', { version: '1.0.0' });
export const validatedFacet = facet<string>('shelf', {
  validate: (value, declared) => declared.names.includes(value) || `${value} is not declared`,
  describe: (declared) => authorities('provides', declared.names),
});
export const coreOnlyFacet = facet<string>('gate', { coreOnly: true });

/** A core plugin that third-party plugins of these tests try to misuse: it has services, facets, secret settings and callers. */
export interface TargetCorePlugin {
  readonly plugins: readonly TestPlugin[];
  readonly host: () => AnyHost;
}

export function createTargetCorePlugin(): TargetCorePlugin {
  let held: AnyHost | undefined;
  return {
    host: () => held as AnyHost,
    plugins: [
      {
        name: 'core',
        manifest: {
          provides: { bank: '1.0.0', vault: '1.0.0', clock: '1.0.0' },
          facets: ['shelf', 'gate'],
          config: {
            SECRET: { type: 'string', default: 'kept', secret: true },
            DB_PASSWORD: { type: 'string', default: 'hidden', secret: true },
            PUBLIC_NAME: { type: 'string', default: 'shown' },
            'CORE_PART_*': { type: 'string' },
          },
          capabilities: {
            events: { emit: ['**'], filter: ['**'], action: ['**'] },
            identity: { evidence: ['user', 'public'] },
            system: { reasons: ['housekeeping'] },
          },
        },
        register(host) {
          held = host;
          host.provide(serviceWithCaller, { name: 'bank', balance: (caller) => `balance of ${caller.user}` });
          host.provide(coreOnlyService, { open: () => 'gold' });
          host.provide(unrestrictedService, { now: () => 'noon' });
          host.define(validatedFacet);
          host.define(coreOnlyFacet);
        },
      },
    ],
  };
}

/** The result of a plugin's attempt to exceed its grants: the error that stopped it, and its denials in the ledger. */
export interface RefusedAttempt {
  readonly message: string;
  readonly denied: readonly LedgerEntry[];
}

interface Attempt {
  readonly manifest?: Record<string, unknown>;
  /** Runs while the plugin registers; `later` runs once the service is started. */
  readonly register?: (host: AnyHost) => unknown;
  readonly later?: (host: AnyHost, core: AnyHost) => unknown;
  readonly environment?: Record<string, string>;
}

const NAME = 'cheat';
/** Names of the plugin in the ledger: `unknown code` where the kernel cannot know whose code runs. */
const OWNERS = [NAME, 'unknown code'];

/** Runs a third-party plugin that tries to exceed its grants and returns the refusal. @throws Error where nothing refused it. */
export async function runRefusedAttempt({ manifest, register, later, environment }: Attempt): Promise<RefusedAttempt> {
  const { plugins, host } = createTargetCorePlugin();
  let own: AnyHost | undefined;
  const cheat: TestPlugin = {
    name: NAME,
    thirdParty: true,
    manifest,
    register(host) {
      own = host;
      register?.(host);
    },
  };
  return withBootedTestPlugins(
    [...plugins, cheat],
    async ({ kernel }) => {
      await kernel.migrate();
      await kernel.start();
      const record = [...thirdPartyLoaders.values()].at(-1)?.records()[0];
      let error: unknown = record?.failure;
      if (later) {
        expect(record?.status, `${record?.failure?.message}`).to.equal('loaded');
        try {
          await later(own as AnyHost, host());
          await tick();
        } catch (thrown) {
          error = thrown;
        }
      }
      if (!error) throw new Error('nothing refused it');
      const { detail, message } = error as { detail?: string; message: string };
      const denied = kernel.ledger.entries().filter(({ kind, plugin }) => kind === 'denied' && OWNERS.includes(plugin));
      return { message: detail ?? message, denied };
    },
    { environment },
  );
}

/** The meta of an event, as a third-party listener receives it. */
export type ReceivedEventMeta = EventMeta & Readonly<Record<string, unknown>>;
