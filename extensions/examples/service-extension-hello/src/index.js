import { defineJsonEndpoint } from '@tenon/extension-sdk';

export default defineJsonEndpoint({
  id: 'hello',
  handler({ method, path, query }, { accountability, host }) {
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: { message: 'Only GET.' } };
    const name = decodeURIComponent(path.slice(1)) || 'world';
    host.log.debug('greeted', { name });
    const greeting = query.language === 'de' ? 'Hallo' : 'Hello';
    return { body: { message: `${greeting}, ${name}!`, signedIn: accountability !== null } };
  },
});
