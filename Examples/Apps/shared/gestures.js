// Gestures by touch, mouse and keyboard: swiping a list item away, and moving a picture.

/** Lets an item follow a swipe to the left, and calls `away` when it is swiped far enough. */
export function onSwipe(item, away) {
  const content = item.firstElementChild;
  let isSwiped = false;
  item.addEventListener("pointerdown", ({ clientX: start }) => {
    isSwiped = false;
    const end = new AbortController();
    const finish = () => {
      content.style.translate = "";
      end.abort();
    };
    // A fast pointer leaves the item before the item gets its event.
    const listen = (type, action) => window.addEventListener(type, action, { signal: end.signal });
    listen("pointermove", (event) => {
      const distance = Math.min(0, event.clientX - start);
      isSwiped ||= distance < -10;
      if (isSwiped) content.style.translate = `${distance}px`;
    });
    listen("pointerup", (event) => {
      finish();
      if (isSwiped && start - event.clientX > item.clientWidth / 3) away();
    });
    listen("pointercancel", finish);
  });
  // The end of a swipe isn't a click, but a later key press is.
  const refuse = (event) => isSwiped && event.detail > 0 && event.stopPropagation();
  item.addEventListener("click", refuse, { capture: true });
}

/** Lets an element be moved by a pointer or by the arrow keys. `moveTo` is called with the new place. */
export function onMove(thing, place, moveTo) {
  let grip;
  thing.addEventListener("pointerdown", (event) => {
    thing.setPointerCapture(event.pointerId);
    const { x, y } = place();
    grip = { x: event.clientX - x, y: event.clientY - y };
  });
  thing.addEventListener("pointermove", (event) => {
    if (grip) moveTo(event.clientX - grip.x, event.clientY - grip.y);
  });
  for (const end of ["pointerup", "pointercancel"]) thing.addEventListener(end, () => (grip = undefined));
  thing.addEventListener("keydown", (event) => {
    const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [];
    if (right === undefined) return;
    event.preventDefault();
    const step = event.shiftKey ? 1 : 10;
    const { x, y } = place();
    moveTo(x + right * step, y + down * step);
  });
}

/** Reads a picture from a file, scaled to at most `side` pixels. Throws an error if the file isn't a picture. */
export async function readPicture(file, side = 640) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const base64 = canvas.toDataURL("image/webp", 0.85).split(",")[1];
  return { name: file.name, base64, width: canvas.width, height: canvas.height };
}
