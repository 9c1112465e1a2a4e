// Names that code outside of a sandbox has.
export default {
  id: 'realm-globals',
  async handler(input, context) {
    const names = ['process', 'require', 'module', 'Buffer', 'fetch', 'XMLHttpRequest', 'WebSocket', 'WebAssembly', 'SharedArrayBuffer', 'Atomics', 'Deno', 'Bun', 'ivm', 'global', 'setImmediate', 'queueMicrotask_', 'navigator', 'importScripts', '$0', '__dirname'];
    const there = names.filter((name) => typeof globalThis[name] !== 'undefined');
    return { body: there.length ? `ESCAPED: ${there.join()}` : 'nothing' };
  },
};
