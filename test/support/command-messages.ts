/** One command for the process of `runCommand`: its arguments, its whole environment, its standard input. The answer is its exit code. */
export interface CommandRequest {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: string;
}

/** What a command has written ends with this text, on both outputs. */
export const END_OF_OUTPUT = '\u0000end of the command\u0000';
