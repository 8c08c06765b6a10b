/**
 * A rule of oxlint for tests: what a busy machine makes slow is no failure. A test asserts order, counts and that something
 * happens at all; what is a speed is a figure of `npm run bench`.
 *
 * @typedef {any} Node of the syntax tree, as ESTree has it
 * @typedef {{ report(found: { node: Node, message: string }): void }} Context
 */

const MESSAGE =
  'A test asserts nothing on elapsed time: order, counts, or `until`. A speed is a figure of `npm run bench`.';
const READERS = new Set(['process.hrtime', 'process.cpuUsage', 'process.resourceUsage']);
const COMPARISONS = new Set(['<', '>', '<=', '>=', '+']);
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;

/**
 * @param {Node} node
 * @returns {string} `object.property`, empty for anything else
 */
const nameOf = ({ type, object, property }) =>
  type === 'MemberExpression' && object.type === 'Identifier' ? `${object.name}.${property.name}` : '';

/** @param {Node} node a call of `performance.now`. @returns {boolean} it is a deadline, or the clock that the product is given */
const isNoStopwatch = ({ parent }) =>
  parent.type === 'ArrowFunctionExpression' ||
  (parent.type === 'BinaryExpression' && COMPARISONS.has(parent.operator));

/**
 * @param {Node} node what is subtracted from now
 * @returns {boolean} it may be an earlier moment, not a length
 */
const isVariable = ({ type, name }) =>
  type === 'MemberExpression' || (type === 'Identifier' && !CONSTANT.test(name));

export default {
  meta: { name: 'tests' },
  rules: {
    'no-elapsed-time': {
      /** @param {Context} context */
      create: (context) => ({
        /** @param {Node} node */
        MemberExpression(node) {
          if (READERS.has(nameOf(node))) context.report({ node, message: MESSAGE });
        },
        /** @param {Node} node */
        CallExpression(node) {
          const name = nameOf(node.callee);
          const { parent } = node;
          const isEnd = parent.type === 'BinaryExpression' && parent.operator === '-' && parent.left === node;
          if (
            (name === 'performance.now' && !isNoStopwatch(node)) ||
            (name === 'Date.now' && isEnd && isVariable(parent.right))
          )
            context.report({ node, message: MESSAGE });
        },
      }),
    },
  },
};
