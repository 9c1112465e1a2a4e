import { type Caller, fail } from '#kernel';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { CredentialsDriver, SessionService, SignInAttempts } from './contract.ts';
import { LOCAL_PROVIDER } from './driver.ts';
import type { SignInHandler } from './sign-in.ts';

interface Deps {
  readonly signIn: Pick<SignInHandler, 'login'>;
  readonly local: CredentialsDriver;
  readonly sessions: Pick<SessionService, 'refresh' | 'close'>;
  readonly attempts: Pick<SignInAttempts, 'checkPassword'>;
  /** Milliseconds that an access token is valid. */
  readonly accessLifetime: number;
}

/** `AuthenticationService` of code with full authority. A wrong password counts as one of a sign-in. */
export const authenticationServiceClass = ({
  signIn,
  local,
  sessions,
  attempts,
  accessLifetime,
}: Deps): ServiceClass => ({
  name: 'AuthenticationService',
  methods: {
    async login(caller, [provider, credentials, options]) {
      if (provider !== undefined && provider !== null && provider !== LOCAL_PROVIDER)
        throw fail('INVALID_PAYLOAD', 'code signs in users of the default provider only');
      const { email, password } = toRecord(credentials);
      const { otp } = toRecord(options);
      if (typeof email !== 'string' || typeof password !== 'string')
        throw fail('INVALID_PAYLOAD', '"email" and "password" must be texts.');
      const request = { caller, client: clientOf(caller), otp: typeof otp === 'string' ? otp : undefined };
      const { access, refresh } = await signIn.login(local, { email, password }, request);
      return { accessToken: access, refreshToken: refresh, expires: accessLifetime };
    },
    refresh: (caller, [token]) => sessions.refresh(caller, String(token)),
    logout: (_caller, [token]) => sessions.close(String(token)),
    async verifyPassword(caller, [user, password]) {
      if (!(await attempts.checkPassword(String(user), String(password), clientOf(caller))))
        throw fail('INVALID_CREDENTIALS', 'wrong password');
    },
  },
});

const toRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const clientOf = ({ ip = null, userAgent = null, origin = null }: Caller) => ({ ip, userAgent, origin });
