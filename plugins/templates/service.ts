import { fail } from '#kernel';
import type { Delimiters, Templates } from './contract.ts';
import { DELIMITER, LIMITS } from './limits.ts';
import type { Pool } from './pool.ts';

const invalid = (reason: string) => fail('INVALID_PAYLOAD', `The template cannot be rendered: ${reason}.`);

/** Everything that can be said without a process is said without one. */
export const createTemplates = (pool: Pick<Pool, 'render'>): Templates => ({
  async render(template, data = {}, delimiters = {}) {
    if (template.length > LIMITS.parse) throw invalid(`it is longer than ${LIMITS.parse} characters`);
    const text = JSON.stringify(data);
    if (Buffer.byteLength(text) > LIMITS.data) throw invalid(`its data is longer than ${LIMITS.data} bytes`);
    const answer = await pool.render({ template, data: text, delimiters: checked(delimiters) });
    if ('reason' in answer) throw invalid(answer.reason);
    return answer.text;
  },
});

function checked({ tagLeft, tagRight, outputLeft, outputRight }: Delimiters): Delimiters {
  const given = { tagLeft, tagRight, outputLeft, outputRight };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && (value.length < 1 || value.length > DELIMITER))
      throw invalid(`${name} has 1 to ${DELIMITER} characters`);
  }
  return given as Delimiters;
}
