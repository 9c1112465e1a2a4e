import { parse } from 'graphql';
import { createClient } from 'graphql-sse';

const TOKEN_ERRORS = ['TOKEN_EXPIRED', 'INVALID_TOKEN'];

/**
 * Sends documents to the URL of the page with the token of the signed-in user. Headers from the editor take precedence,
 * a token included.
 */
export function createFetcher(session) {
  async function send(params, editorHeaders, token) {
    const headers = headersFor(token, editorHeaders);
    for (const name of ['Content-Type', 'Accept']) if (!headers.has(name)) headers.set(name, 'application/json');
    const isSessionToken = token !== undefined && headers.get('Authorization') === `Bearer ${token}`;
    const answer = await fetch(location.pathname, {
      method: 'POST',
      headers,
      credentials: 'omit',
      body: JSON.stringify(params),
    });
    const result = await answer.json();
    const isRefused = isSessionToken && !answer.ok && TOKEN_ERRORS.includes(result.errors?.[0]?.extensions?.code);
    return { result, isRefused };
  }

  /** Subscribes by server-sent events. A connection that breaks ends with an error: the person runs the document again. */
  function subscribe(params, editorHeaders, token) {
    const headers = Object.fromEntries(headersFor(token, editorHeaders));
    return createClient({ url: location.pathname, headers, credentials: 'omit', retryAttempts: 0 }).iterate(params);
  }

  return async (params, { headers = {} } = {}) => {
    if (isSubscription(params)) return subscribe(params, headers, session.current()?.token);
    const token = session.current()?.token;
    const { result, isRefused } = await send(params, headers, token);
    if (!isRefused || !(await session.renew(token))) return result;
    return (await send(params, headers, session.current().token)).result;
  };
}

function headersFor(token, editorHeaders) {
  const headers = new Headers(token ? { Authorization: `Bearer ${token}` } : {});
  for (const [name, value] of Object.entries(editorHeaders)) headers.set(name, value);
  return headers;
}

/** The document that the editor has parsed may be an earlier one, so the one to send is parsed. The service explains what is no document. */
function isSubscription({ query, operationName }) {
  try {
    return parse(query).definitions.some(
      ({ kind, operation, name }) =>
        kind === 'OperationDefinition' &&
        operation === 'subscription' &&
        (!operationName || name?.value === operationName),
    );
  } catch {
    return false;
  }
}
