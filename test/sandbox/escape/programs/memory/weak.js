// WeakRefs and WeakMaps without end.
// @expect fails
export default {
  id: 'memory-weak',
  async handler(input, context) {
    const all = [];
    for (;;) all.push(new WeakRef({ ballast: new Array(100).fill(all.length) }), new WeakMap([[{}, all]]));
  },
};
