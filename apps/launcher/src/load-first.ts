/**
 * Runs a program in two steps: loads its modules at once, which takes most of its start, and runs it when the launcher
 * sends a message. Arguments: the modules, and the program.
 */
const [, , modules, program] = process.argv;
if (modules === undefined || program === undefined) throw new Error('Give the modules and the program.');
// without a launcher nothing keeps this process alive
process.once('message', () => {
  require(program);
});
require(modules);
