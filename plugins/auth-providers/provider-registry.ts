import type { Log } from '#kernel';
import type { AuthDriver } from '../auth/contract.ts';
import type { ProviderDriverDeclaration } from './contract.ts';
import type { OpenProvider } from './providers.ts';
import { reasonOf } from './unavailable.ts';
import type { ProviderVariables } from './variables.ts';

interface Deps {
  /** @throws BootFailure */
  readonly openProvider: (variables: ProviderVariables) => Promise<OpenProvider>;
  readonly declarations: () => ReadonlyMap<string, ProviderDriverDeclaration>;
  /** Contributes a driver to `auth`, and returns the function that removes it. */
  readonly contribute: (driver: AuthDriver) => () => void;
  readonly log: Log;
}

interface Entry {
  readonly variables: ProviderVariables;
  provider: OpenProvider;
}

/** The providers of the settings, in their order. */
export interface ProviderRegistry {
  get(name: string): OpenProvider | undefined;
  list(): readonly OpenProvider[];
  /** Opens all providers. @throws BootFailure */
  start(all: readonly ProviderVariables[]): Promise<void>;
  /** Opens the providers whose drivers were loaded anew, one change after the other. */
  update(): Promise<void>;
  close(): Promise<void>;
}

export function createProviderRegistry({ openProvider, declarations, contribute, log }: Deps): ProviderRegistry {
  const entries = new Map<string, Entry>();
  let removals: (() => void)[] = [];
  let last = Promise.resolve();

  /** All at once and in their order, which `GET /auth` shows. */
  function contributeAll(): void {
    for (const remove of removals) remove();
    removals = [...entries.values()].map(({ provider }) => contribute(provider.authDriver));
  }

  async function reopen(entry: Entry): Promise<void> {
    const { variables, provider } = entry;
    const current = declarations().get(provider.declaration.name);
    // Without its driver a provider stays, and its sign-ins are refused.
    if (!current || current === provider.declaration) return;
    try {
      entry.provider = await openProvider(variables);
      contributeAll();
      await provider.driver.close?.();
    } catch (error) {
      log.error({ provider: variables.name }, `the sign-in provider cannot be opened again: ${reasonOf(error)}`);
    }
  }

  return {
    get: (name) => entries.get(name)?.provider,
    list: () => [...entries.values()].map(({ provider }) => provider),
    async start(all) {
      for (const variables of all) entries.set(variables.name, { variables, provider: await openProvider(variables) });
      contributeAll();
    },
    update() {
      last = last.then(async () => {
        for (const entry of entries.values()) await reopen(entry);
      });
      return last;
    },
    async close() {
      const closing = [...entries.values()].map(async ({ provider }) => provider.driver.close?.());
      entries.clear();
      const closed = await Promise.allSettled(closing);
      for (const one of closed) if (one.status === 'rejected') throw one.reason;
    },
  };
}
