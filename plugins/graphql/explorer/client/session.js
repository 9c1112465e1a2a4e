/**
 * The signed-in user of this page. The access token survives a reload of the tab, since it expires soon; the refresh
 * token stays in memory. No request sends cookies, so that other sessions of this browser are not affected.
 */
const KEY = 'explorer:session';

/** `auth`: URL of the routes of authentication, with a trailing slash. */
export function createSession(auth) {
  const listeners = new Set();
  let current = JSON.parse(sessionStorage.getItem(KEY));
  let refreshToken;
  let renewing;

  function setCurrent(next) {
    current = next;
    if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
    for (const listener of listeners) listener();
  }

  async function post(verb, body) {
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
    setCurrent({ email, token: tokens.access_token });
  }

  function leave() {
    refreshToken = undefined;
    setCurrent(null);
  }

  return {
    /** `{ email, token }`, or null. */
    current: () => current,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async signIn(email, password) {
      enter(email, await post('login', { email, password, mode: 'json' }));
    },
    async signOut() {
      const token = refreshToken;
      leave();
      // If this fails, the session expires by itself.
      if (token) await post('logout', { refresh_token: token, mode: 'json' }).catch(() => {});
    },
    /** Called after the service refused `token`. True when there is a new one; otherwise the user is signed out. */
    async renew(token) {
      if (current?.token !== token) return current !== null;
      renewing ??= (async () => {
        const { email } = current;
        try {
          if (!refreshToken) throw new Error('no refresh token');
          enter(email, await post('refresh', { refresh_token: refreshToken, mode: 'json' }));
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
