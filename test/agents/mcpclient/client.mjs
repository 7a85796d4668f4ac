import { createInterface } from 'node:readline';
const [sdk, command, ...args] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const client = new Client({ name: 'berth-test', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const say = (answer) => process.stdout.write(JSON.stringify(answer) + '\n');
say(await client.listTools());
for await (const line of createInterface({ input: process.stdin })) {
  say(await client.callTool(JSON.parse(line)).catch((e) => ({ rpc: e.code, message: e.message })));
}
await client.close();
