/**
 * Program of a child process that has a launcher, for tests that kill it, exhaust its descriptors or start it as another
 * user. Prints lines of JSON.
 */
import { closeSync, openSync } from 'node:fs';
import { createTestLauncher, launchProbe, listProcessesOfChild } from './launcher-fixture.ts';

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const [mode, environment = '{}'] = process.argv.slice(2);
const launcher = await createTestLauncher('auto', JSON.parse(environment));

const modes: Readonly<Record<string, () => Promise<void>>> = {
  /** Prints its posture and ends. */
  async posture() {
    say(launcher.posture);
    await launcher.close();
  },
  /** Starts children, prints their process ids and waits to be killed. */
  async holds() {
    const children = [await launchProbe(launcher), await launchProbe(launcher)];
    void children[1]?.ask('spin', { ms: 600_000 });
    say({ pids: children.flatMap(({ child }) => listProcessesOfChild(child.pid)) });
    setInterval(() => {}, 1_000);
  },
  /** Uses up all descriptors, starts a child, frees the descriptors and starts another child. */
  async crowded() {
    const held: number[] = [];
    try {
      for (;;) held.push(openSync('/dev/null', 'r'));
    } catch (error) {
      say((error as NodeJS.ErrnoException).code);
    }
    const child = launcher.launch();
    const end = await child.ended;
    for (const fd of held) closeSync(fd);
    say({ end, isDestroyed: child.channel.destroyed });
    const { child: next, read } = await launchProbe(launcher);
    say(await read('pid'));
    next.kill();
    await launcher.close();
  },
  /** Prints the open descriptors of a child. */
  async inherits() {
    const { read } = await launchProbe(launcher);
    say({ posture: launcher.posture, descriptors: await read('descriptors') });
    await launcher.close();
  },
};
await modes[mode ?? '']?.();
