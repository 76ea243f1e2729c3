// Runs before the page is drawn, so that a stored choice of colours never flashes.
(function () {
  "use strict";
  var root = document.documentElement;
  root.classList.add("js");
  try {
    var stored = localStorage.getItem("rebench-theme");
    if (stored === "light" || stored === "dark") root.dataset.theme = stored;
  } catch (e) { /* storage may be forbidden; the system's colours remain */ }
})();
