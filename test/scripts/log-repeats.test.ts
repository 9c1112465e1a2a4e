import { expect } from 'chai';
import { createLog } from '../../kernel/log.ts';
import { createRepeatedLogLimiter } from '../../scripts/log-repeat-limit.ts';
import { until } from '../support/until.ts';

describe('the limit of repeated lines in the log', () => {
  const logOf = (window: number) => {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line));
    return {
      lines,
      log: createLog({ level: 'info', style: 'raw', write, logMethod: createRepeatedLogLimiter(window) }),
    };
  };

  it('writes ten lines of one cause, and then the number of the rest', async () => {
    const { lines, log } = logOf(50);
    const fails = (text: string) => log.error({ err: new Error(text) }, 'request failed');
    for (let at = 0; at < 500; at++) fails(`what a client sent: ${at}`);
    expect(lines).to.have.length(10);
    const summary = await until(() => lines[10]);
    expect(summary).to.include({ level: 50, more: 490, msg: 'request failed (and 490 more in 0.05 s)' });
  });

  it('still writes lines of other causes, and all lines below warn', () => {
    const { lines, log } = logOf(60_000);
    for (let at = 0; at < 500; at++) log.error({ err: new Error('one') }, 'request failed');
    log.error({ err: new Error('another') }, 'request failed');
    log.error('something else');
    for (let at = 0; at < 20; at++) log.info('line');
    expect(lines).to.have.length(10 + 1 + 1 + 20);
  });
});
