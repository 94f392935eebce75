"""What `native.components` asks of all the steps of a model, in loops."""

from __future__ import annotations

from typing import Any

from streamproof.checker.native.components import NOWHERE


def walk(steps: Any, begun: Any, allowed: Any, found: Any, seen: Any) -> Any:
    """Go on from some states through allowed ones; give how many were found."""
    size = 0
    for number in begun:
        if not seen[number]:
            seen[number] = True
            found.order[size] = number
            size += 1
    at = 0
    while at < size:
        number = found.order[at]
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            target = steps.targets[step]
            if allowed[target] and not seen[target]:
                seen[target] = True
                found.before[target] = number
                found.by[target] = steps.actions[step]
                found.order[size] = target
                size += 1
        at += 1
    return size


def rest(steps: Any, order: Any, kinds: Any) -> Any:
    """Return the first state in which no fair action can happen."""
    for number in order:
        may_stay = True
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            may_stay &= kinds[steps.actions[step]] == 0
        if may_stay:
            return number
    return NOWHERE


def subgraph(steps: Any, region: Any, place: Any, offsets: Any, targets: Any) -> None:
    """Write the steps within some states, in compressed rows."""
    for row, number in enumerate(region):
        place[number] = row
    at = 0
    for row, number in enumerate(region):
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            target = place[steps.targets[step]]
            if target != NOWHERE:
                targets[at] = target
                at += 1
        offsets[row + 1] = at


def label_components(offsets: Any, targets: Any, labels: Any, scratch: Any) -> Any:
    """Label strongly connected components by depth-first search [Tar72]; give how many there are.

    A state's number is its place in the search, 0 before it is entered; its root is the least
    number that is known to be in its component.
    """
    number, root, step, path, waiting = scratch
    entered = depth = waits = count = 0
    for start in range(len(labels)):
        if number[start] == 0:
            path[0] = start
            depth = 1
        while depth > 0:
            state = path[depth - 1]
            if number[state] == 0:
                entered += 1
                number[state] = root[state] = entered
                step[state] = offsets[state]
                waiting[waits] = state
                waits += 1
            if step[state] < offsets[state + 1]:
                target = targets[step[state]]
                step[state] += 1
                if number[target] == 0:
                    path[depth] = target
                    depth += 1
                elif labels[target] == NOWHERE:
                    root[state] = min(root[state], number[target])
                continue
            depth -= 1
            if depth > 0:
                root[path[depth - 1]] = min(root[path[depth - 1]], root[state])
            while root[state] == number[state] and labels[state] == NOWHERE:
                waits -= 1
                labels[waiting[waits]] = count
            count += root[state] == number[state]
    return count


def judge_parts(steps: Any, parts: Any, kinds: Any, scratch: Any, fair: Any, left: Any) -> None:
    """Write which sets of states are allowed, and which states are left of those that are not."""
    label, can, stays, strong = scratch
    states, starts = parts.states, parts.starts
    for part in range(len(starts) - 1):
        for at in range(starts[part], starts[part + 1]):
            label[states[at]] = part
    for part in range(len(starts) - 1):
        begin, end = starts[part], starts[part + 1]
        if end - begin == 1:
            continue  # a single state in which a run may stay has been looked for
        can[:] = 0
        stays[:] = False
        for at in range(begin, end):
            number = states[at]
            for step in range(steps.offsets[number], steps.offsets[number + 1]):
                can[steps.actions[step]] += 1
                stays[steps.actions[step]] |= label[steps.targets[step]] == part
        is_weak = is_strong = False
        for action in range(len(kinds)):
            strong[action] = kinds[action] == 2 and can[action] > 0 and not stays[action]
            is_strong |= strong[action]
            is_weak |= kinds[action] == 1 and can[action] == end - begin and not stays[action]
        fair[part] = not is_weak and not is_strong
        if is_strong and not is_weak:
            for at in range(begin, end):
                is_left = True
                for step in range(steps.offsets[states[at]], steps.offsets[states[at] + 1]):
                    is_left &= not strong[steps.actions[step]]
                left[at] = is_left
