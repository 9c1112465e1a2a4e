// Promises that wait for each other.
// @expect fails
export default {
  id: 'memory-promises',
  async handler(input, context) {
    const all = [];
    for (;;) all.push(new Promise(() => {}).then(() => all));
  },
};
