import { Failure, type Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import type { SecretCipher } from '../secrets/contract.ts';
import type { AccountStatements } from './account-statements.ts';
import type { ProviderTokens } from './contract.ts';
import { reasonOf } from './unavailable.ts';

interface Deps {
  readonly db: Db;
  readonly statements: AccountStatements;
  readonly secrets: SecretCipher;
  readonly log: Log;
}

type Exchange = (tokens: ProviderTokens) => Promise<ProviderTokens>;

/** Tokens of providers, encrypted in `platform_users.auth_data`. Without SECRETS_ENCRYPTION_KEY none is stored. */
export interface ProviderTokenStore {
  store(user: string, tokens: ProviderTokens | undefined): Promise<void>;
  /**
   * Exchanges the tokens of a user where they have expired. Of several processes one does; the others go on with theirs.
   * @throws INVALID_CREDENTIALS where the provider refuses. While it cannot be reached, sessions go on.
   */
  refresh(user: string, exchange: Exchange): Promise<void>;
}

const KIND = 'tokens of a sign-in provider';
/** Milliseconds for which the process that exchanges tokens keeps the others from it. */
const LEASE = 60_000;

export function createProviderTokenStore({ db, statements, secrets, log }: Deps): ProviderTokenStore {
  const seal = (tokens: ProviderTokens) => secrets.seal(KIND, JSON.stringify(tokens));

  /** The tokens as this process replaced them; undefined where another process was first. */
  async function replace(user: string, before: string, after: string | null): Promise<string | undefined> {
    const { rows } = await db.query<{ data: string | null }>(statements.REPLACE_TOKENS, [user, before, after]);
    return rows[0] && (rows[0].data ?? '');
  }

  return {
    async store(user, tokens) {
      if (tokens && secrets.available()) await db.query(statements.STORE_TOKENS, [user, seal(tokens)]);
    },

    async refresh(user, exchange) {
      if (!secrets.available()) return;
      const { rows } = await db.query<{ data: string }>(statements.TOKENS, [user]);
      const stored = rows[0]?.data;
      const text = stored && secrets.open(KIND, stored);
      if (!stored || !text) return;
      const tokens = JSON.parse(text) as ProviderTokens;
      if ((tokens.expires ?? 0) > Date.now()) return;
      const lease = await replace(user, stored, seal({ ...tokens, expires: Date.now() + LEASE }));
      if (lease === undefined) return;
      try {
        await replace(user, lease, seal(await exchange(tokens)));
      } catch (error) {
        const isRefused = error instanceof Failure && error.code === 'INVALID_CREDENTIALS';
        if (isRefused) await replace(user, lease, null);
        if (isRefused) throw error;
        // The lease stays, so that the user waits for the provider once a minute.
        log.warn({ user }, `the sign-in provider did not refresh its tokens: ${reasonOf(error)}`);
      }
    },
  };
}
