// Other schemes.
// @capabilities {"request":{"origins":["http://declared.invalid","http://ORIGIN"],"methods":["GET"]}}
export default {
  id: 'reach-schemes',
  async handler(input, context) {
    const answers = [];
    for (const url of ['file:///etc/passwd', 'data:text/plain,x', 'javascript:1', 'ftp://ORIGIN/', 'ws://ORIGIN/', 'blob:http://ORIGIN/x', '//ORIGIN/']) {
      const answer = await context.host.request.send({ url });
      answers.push(answer.ok ? `ESCAPED: ${url}` : answer.error.code);
    }
    return { body: answers };
  },
};
