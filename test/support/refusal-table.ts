/** The table of refused sign-ins of a driver, which is printed after its tests. */
export interface RefusalTable {
  add(driver: string, what: string, refusal: string): void;
  print(): void;
}

export function createRefusalTable(): RefusalTable {
  const lines: string[] = [];
  return {
    add: (driver, what, refusal) => void lines.push(`${driver.padEnd(8)}${what.padEnd(72)}${refusal}`),
    print: () => console.log(lines.map((line) => `      ${line}`).join('\n')),
  };
}
