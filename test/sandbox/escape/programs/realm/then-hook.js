// A new `then` for all promises, to see what the host does with its own.
// @capabilities {"items":{"accountability":"user"}}
export default {
  id: 'realm-then-hook',
  async handler(input, context) {
    const caught = [];
    const then = Promise.prototype.then;
    Promise.prototype.then = function (...all) {
      caught.push(this, ...all);
      return then.apply(this, all);
    };
    await context.host.items.readMany('secrets');
    await context.host.settings.get('nothing');
    Promise.prototype.then = then;
    const reach = caught.some((one) => { try { return typeof one.constructor.constructor('return process')() === 'object'; } catch { return false; } });
    return { body: reach ? 'ESCAPED: a process' : caught.length };
  },
};
