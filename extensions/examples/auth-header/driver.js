import { createHash, timingSafeEqual } from 'node:crypto';

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

  return {
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
        // The proxy knows its users: their addresses are theirs.
        emailVerified: true,
        groups: groups.split(',').map((group) => group.trim()),
      };
    },
  };
}

/** The service answers these codes. Any other error is an internal one. */
const refusal = (code, message) => Object.assign(new Error(message), { code });

const digest = (text) => createHash('sha256').update(text).digest();
const isSameText = (a, b) => timingSafeEqual(digest(a), digest(b));
