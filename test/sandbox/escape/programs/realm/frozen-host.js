// Other methods for the host, which the next caller would use.
export default {
  id: 'realm-frozen-host',
  async handler(input, context) {
    const tried = [];
    for (const change of [
      () => { context.host.items.readMany = () => 'ESCAPED'; },
      () => { context.host.items = {}; },
      () => { delete context.host.log; },
      () => { Object.defineProperty(context.host, 'extra', { value: 1 }); },
      () => { Object.setPrototypeOf(context.host, { extra: 1 }); },
      () => { context.host.log.info.apply = () => 'ESCAPED'; },
    ]) {
      try { change(); } catch { tried.push(1); }
    }
    return { body: context.host.extra || typeof context.host.items.readMany !== 'function' || context.host.log.info.apply !== Function.prototype.apply || !context.host.items || !context.host.log ? 'ESCAPED: the host was changed' : 'frozen' };
  },
};
