// A declared name that leads inside.
// @capabilities {"request":{"origins":["http://localhost:PORT","http://127.0.0.1:PORT","http://[::1]:PORT","http://[::ffff:7f00:1]:PORT","http://0.0.0.0:PORT"]}}
export default {
  id: 'reach-localhost',
  async handler(input, context) {
    const answers = [];
    for (const url of ['http://localhost:PORT/', 'http://127.1:PORT/', 'http://2130706433:PORT/', 'http://[::1]:PORT/', 'http://[::ffff:7f00:1]:PORT/', 'http://0.0.0.0:PORT/']) {
      const answer = await context.host.request.send({ url });
      answers.push(answer.ok ? `ESCAPED: ${url}` : answer.error.code);
    }
    return { body: answers };
  },
};
