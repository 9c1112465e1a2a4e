// Methods that were not declared.
// @capabilities {"request":{"origins":["http://declared.invalid","http://ORIGIN"],"methods":["GET"]}}
export default {
  id: 'reach-methods',
  async handler(input, context) {
    const answers = [];
    for (const url of ['http://ORIGIN/', 'http://ORIGIN/x']) {
      const answer = await context.host.request.send({ url, method: 'POST' });
      answers.push(answer.ok ? `ESCAPED: ${url}` : answer.error.code);
    }
    return { body: answers };
  },
};
