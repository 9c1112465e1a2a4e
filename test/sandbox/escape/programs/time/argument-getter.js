// A loop where arguments of the host are read.
// @expect fails
export default {
  id: 'time-argument-getter',
  async handler(input, context) {
    await context.host.items.readMany('secrets', {
      get filter() {
        for (;;);
      },
    });
  },
};
