// Calls of the host after the answer was given.
// @capabilities {"items":{"accountability":"user"},"log":true}
// @expect status 200
export default {
  id: 'answer-late',
  async handler(input, context) {
    setTimeout(() => context.host.items.readMany('secrets'), 20);
    Promise.resolve().then(() => context.host.log.info('after'));
    return { body: 1 };
  },
};
