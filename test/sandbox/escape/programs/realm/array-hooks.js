// Array methods of its own, for whatever the host keeps in lists.
// @capabilities {"items":{"accountability":"user"}}
// @expect any
export default {
  id: 'realm-array-hooks',
  async handler(input, context) {
    const caught = [];
    for (const name of ['push', 'map', 'join', 'forEach', 'slice', 'splice', 'shift', 'concat', 'filter', 'indexOf', Symbol.iterator]) {
      const before = Array.prototype[name];
      Array.prototype[name] = function (...all) {
        caught.length < 1000 && (caught[caught.length] = [this, all]);
        return Reflect.apply(before, this, all);
      };
    }
    await context.host.items.readMany('secrets');
    const reach = caught.flat(3).some((one) => typeof one === 'function' && one.name === 'send');
    return { body: reach ? 'ESCAPED: the way to the host' : caught.length };
  },
};
