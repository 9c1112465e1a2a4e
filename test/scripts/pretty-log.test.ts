import { expect } from 'chai';
import { createLog } from '#kernel/boot';
import { renderLogLine } from '../../scripts/pretty-log.ts';

/** Text of what one call writes to a log of the style `pretty`. */
function prettyText(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = '';
  write(createLog({ level: 'info', style: 'pretty', pretty: (line) => (text += renderLogLine(line)) }));
  return text;
}

describe('the pretty log', () => {
  it('writes one line for each entry: time, level, owner, message and other members', () => {
    const text = prettyText((log) => log.child({ owner: 'items' }).warn({ rows: 3, on: { a: 1 } }, 'a slow read'));
    expect(text).to.match(/^\d\d:\d\d:\d\d\.\d{3} WARN items: a slow read rows=3 on=\{"a":1\}\n$/);
  });

  it('puts the stack of an error below its line', () => {
    const [line, ...stack] = prettyText((log) => log.error({ err: new Error('broken') }, 'request failed')).split('\n');
    expect(line).to.match(/ ERROR request failed$/);
    expect(stack.slice(0, 2).join('\n')).to.match(/^Error: broken\n {4}at /);
  });

  it('escapes line breaks, control characters and changes of direction in texts of requests', () => {
    const text = prettyText((log) => log.info({ path: '/a\n12:00 ERROR forged\u001b[2J\u202e' }, 'request'));
    expect(text.trimEnd()).to.match(/path=\/a\\u000a12:00 ERROR forged\\u001b\[2J\\u202e$/);
  });

  it('writes JSON lines without a pretty writer', () => {
    const lines: string[] = [];
    createLog({ level: 'info', style: 'pretty', write: (line) => lines.push(line) }).info('plain');
    expect(JSON.parse(lines[0] as string)).to.include({ msg: 'plain', level: 30 });
  });
});
