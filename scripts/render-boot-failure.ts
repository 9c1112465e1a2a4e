import type { BootFailure } from '#kernel/boot';

const INDENT = `\n${' '.repeat(11)}`;

/** Why the process does not start, as lines for the terminal: plugin, phase, reason and remedy. */
export const renderBootFailure = ({ plugin, phase, message, remedy }: BootFailure): string =>
  [
    'Tenon could not start.',
    `  plugin:  ${plugin}`,
    `  phase:   ${phase}`,
    `  reason:  ${message.replaceAll('\n', INDENT)}`,
    ...(remedy ? [`  remedy:  ${remedy.replaceAll('\n', INDENT)}`] : []),
  ].join('\n');
