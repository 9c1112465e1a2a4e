// A declared origin whose address is inside.
// @capabilities {"request":{"origins":["http://INSIDE","http://localhost:1","http://[::ffff:127.0.0.1]:1"]}}
export default {
  id: 'reach-inside',
  async handler(input, context) {
    const answer = await context.host.request.send({ url: 'http://INSIDE/' });
    return { body: answer.ok ? 'ESCAPED: an address inside' : answer.error.code };
  },
};
