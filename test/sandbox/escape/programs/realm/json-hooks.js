// Another JSON, to write answers of the host and other people.
// @expect any
export default {
  id: 'realm-json-hooks',
  async handler(input, context) {
    JSON.stringify = () => '{"body":"forged"}';
    JSON.parse = () => ({ ok: true, value: 'forged' });
    String.prototype.toString = () => 'forged';
    Object.prototype.toJSON = () => 'forged';
    const answer = await context.host.settings.get('nothing');
    return { body: { answer: answer.value === 'forged' ? 'ESCAPED: answers of the host can be forged' : 'true' } };
  },
};
