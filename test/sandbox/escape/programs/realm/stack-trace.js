// Call sites of the host in an error.
// @capabilities {"log":true,"items":{"accountability":"user"}}
export default {
  id: 'realm-stack-trace',
  async handler(input, context) {
    const sites = [];
    Error.prepareStackTrace = (_error, trace) => {
      for (const site of trace) sites.push(site.getFileName(), site.getThis?.(), site.getFunction?.());
      return trace;
    };
    void new Error('x').stack;
    try {
      await context.host.items.readMany(Symbol('x'));
      await context.host.log.info(10n);
      JSON.parse('{');
      null.x;
    } catch (error) {
      void error.stack;
    }
    const names = sites.filter((one) => typeof one === 'string' && /node:|runner|isolate|\.cjs/.test(one));
    const things = sites.filter((one) => one !== globalThis && (typeof one === 'object' || typeof one === 'function') && one !== null);
    const reach = things.some((one) => { try { return typeof one.constructor.constructor('return process')() === 'object'; } catch { return false; } });
    return { body: reach ? 'ESCAPED: a process' : names.length };
  },
};
