// Everything the host has, with nothing declared.
export default {
  id: 'reach-undeclared',
  async handler(input, context) {
    const { host } = context;
    const calls = [host.items.readMany('secrets'), host.items.createOne('secrets', { text: 'x' }), host.request.send({ url: 'http://ORIGIN/' }), host.template.renderLiquid('x')];
    const answers = await Promise.all(calls);
    return { body: answers.some(({ ok }) => ok) ? 'ESCAPED: something was granted' : answers.map(({ error }) => error.code) };
  },
};
