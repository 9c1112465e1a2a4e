import { createHash, timingSafeEqual } from 'node:crypto';

/** Any client can try secrets. */
const MIN_SECRET = 32;

/** A driver of sign-in providers (see `plugins/auth-providers/contract.ts` of the service). */
export function openHeaderDriver(provider) {
  const headerOf = (callback, key) => callback.header(provider.value(key).toLowerCase())?.trim() || undefined;

  /** Any client can send the headers; the secret shows that the proxy did. */
  async function assertProxy(callback) {
    const secret = await provider.secret('SECRET');
    const presented = headerOf(callback, 'SECRET_HEADER');
    if (!secret || !presented || !isSameText(secret, presented))
      throw refusal('INVALID_CREDENTIALS', 'the request brings no secret of the proxy');
  }

  /** Findings of `auth check`. Nothing outside of the service can be asked here. */
  async function* check() {
    const secret = await provider.secret('SECRET');
    const name = provider.variableOf('SECRET');
    if (secret.length >= MIN_SECRET) yield { check: 'secret', status: 'ok', text: `${name} is long enough` };
    else {
      const text = `${name} is shorter than ${MIN_SECRET} characters`;
      yield { check: 'secret', status: 'warn', text, remedy: 'make a longer one, and give it to the proxy, too' };
    }
  }

  return {
    check,

    /** No page asks the user for anything: the browser is sent to the callback at once. */
    async begin({ state }) {
      const location = new URL(provider.urlOf('callback'));
      location.searchParams.set('state', state);
      return { location, keep: {} };
    },

    async finish(callback) {
      await assertProxy(callback);
      const identifier = headerOf(callback, 'USER_HEADER');
      if (!identifier) throw refusal('INVALID_CREDENTIALS', 'the proxy names no user');
      const groups = headerOf(callback, 'GROUPS_HEADER') ?? '';
      return {
        identifier,
        email: headerOf(callback, 'EMAIL_HEADER'),
        // Users whom an admin prepared are linked by a verified address.
        emailVerified: provider.value('EMAIL_IS_VERIFIED') ? true : undefined,
        groups: groups.split(',').map((group) => group.trim()),
      };
    },
  };
}

/** The service answers these codes. Any other error is an internal one. */
const refusal = (code, message) => Object.assign(new Error(message), { code });

const digest = (text) => createHash('sha256').update(text).digest();
const isSameText = (a, b) => timingSafeEqual(digest(a), digest(b));
