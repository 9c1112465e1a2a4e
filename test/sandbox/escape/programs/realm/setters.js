// Setters on Object.prototype, for whatever the host writes into plain objects.
// @capabilities {"items":{"accountability":"user"},"log":true}
// @expect any
export default {
  id: 'realm-setters',
  async handler(input, context) {
    const caught = [];
    for (const name of ['send', 'id', 'call', 'ok', 'value', 'error', 'code', 'resolve', 'reject', 'callback', 'handler', 'type', 'method', 'result', 'get', 'set', 'then']) {
      Object.defineProperty(Object.prototype, name, { set(value) { caught.push(value); }, get() { return undefined; }, configurable: true });
    }
    await context.host.items.readMany('secrets');
    context.host.log.info('x');
    const functions = caught.filter((one) => typeof one === 'function');
    for (const one of functions) {
      try { one('result', '{"body":"ESCAPED"}'); one('{"body":"ESCAPED"}'); } catch {}
      try { if (typeof one.constructor('return process')() === 'object') return { body: 'ESCAPED: a process' }; } catch {}
    }
    return { body: functions.length };
  },
};
