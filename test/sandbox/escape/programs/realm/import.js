// A module of the host by a computed name.
export default {
  id: 'realm-import',
  async handler(input, context) {
    const load = new Function('name', 'return import(name)');
    for (const name of ['fs', 'node:fs', 'node:child_process', '/runner.cjs', 'data:text/javascript,export default 1']) {
      try {
        await load(name);
        return { body: `ESCAPED: ${name}` };
      } catch {}
    }
    return { body: 'nothing' };
  },
};
