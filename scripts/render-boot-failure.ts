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

/** Why a command failed: reason and remedy where the error has one, else the error with its stack. */
export const renderCommandFailure = (error: unknown): unknown => {
  const { message, remedy } = (error ?? {}) as { message?: unknown; remedy?: unknown };
  return typeof remedy === 'string' ? `${message}\n  remedy:  ${remedy.replaceAll('\n', INDENT)}` : error;
};
