/**
 * Who is signed in on this page. The access token survives a reload of the tab, since it ends soon by itself; the refresh
 * token never leaves memory. Nothing is sent with cookies: another session of this browser is not touched.
 */
const KEY = 'explorer:session';

/** `auth` is the address of the routes that sign in, with a slash at its end. */
export function createSession(auth) {
  const listeners = new Set();
  let current = JSON.parse(sessionStorage.getItem(KEY));
  let refreshToken;
  let renewing;

  function become(next) {
    current = next;
    if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
    for (const listener of listeners) listener();
  }

  async function ask(verb, body) {
    const answer = await fetch(new URL(verb, auth), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      credentials: 'omit',
      body: JSON.stringify(body),
    });
    if (answer.status === 204) return undefined;
    const { data, errors } = await answer.json();
    if (!answer.ok) throw new Error(errors?.[0]?.message ?? `The service answers ${answer.status}.`);
    return data;
  }

  function enter(email, tokens) {
    refreshToken = tokens.refresh_token;
    become({ email, token: tokens.access_token });
  }

  function leave() {
    refreshToken = undefined;
    become(null);
  }

  return {
    /** `{ email, token }`, or null. */
    current: () => current,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async signIn(email, password) {
      enter(email, await ask('login', { email, password, mode: 'json' }));
    },
    async signOut() {
      const token = refreshToken;
      leave();
      // What is left of it on the other side ends by itself.
      if (token) await ask('logout', { refresh_token: token, mode: 'json' }).catch(() => {});
    },
    /** After the service refused `token`: true where there is another one now, else nobody is signed in any more. */
    async renew(token) {
      if (current?.token !== token) return current !== null;
      renewing ??= (async () => {
        const { email } = current;
        try {
          if (!refreshToken) throw new Error('no refresh token');
          enter(email, await ask('refresh', { refresh_token: refreshToken, mode: 'json' }));
        } catch {
          leave();
        } finally {
          renewing = undefined;
        }
      })();
      await renewing;
      return current !== null;
    },
  };
}
