import type { Log } from '#kernel';
import type { Db } from '../database/contract.ts';
import { parsePreviousSecrets, type TokenSecrets } from './token-secrets.ts';
import { createTokenSecretSource } from './token-signing-secret.ts';

interface Deps {
  readonly db: Db;
  readonly log: Log;
  readonly config: {
    readonly SECRET: string | undefined;
    readonly SECRET_PREVIOUS: string | undefined;
    readonly DATA_PATH: string;
  };
}

/** The secrets of all tokens, which are known once the service starts. */
export interface AgreedSecrets {
  /** @throws Error before `agree`. */
  read(): TokenSecrets;
  agree(): Promise<void>;
}

/** Characters of a secret that is hard to guess. */
export const SHORT_SECRET = 32;

export function createAgreedSecrets({ db, log, config }: Deps): AgreedSecrets {
  const source = createTokenSecretSource({ db, log });
  let secrets: TokenSecrets | undefined;
  return {
    read() {
      if (!secrets) throw new Error('tokens need the secret, which is read when the service starts');
      return secrets;
    },
    async agree() {
      if (config.SECRET !== undefined && config.SECRET.length < SHORT_SECRET)
        log.warn(`SECRET is short: ${SHORT_SECRET} characters or more are hard to guess`);
      const current = await source.agree(config.SECRET, config.DATA_PATH);
      secrets = { current, previous: parsePreviousSecrets(config.SECRET_PREVIOUS) };
    },
  };
}
