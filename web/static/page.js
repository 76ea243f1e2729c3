// Small conveniences. Every page works without them.
(function () {
  "use strict";
  var root = document.documentElement;

  // A form sends every field; the address in its shortest spelling says the same.
  var canonical = document.querySelector("link[rel=canonical]");
  if (canonical && canonical.getAttribute("href") !== location.pathname + location.search) {
    history.replaceState(history.state, "", canonical.getAttribute("href") + location.hash);
  }

  // Colours: as the system, light, dark.
  var toggle = document.querySelector("[data-theme-toggle]");
  var states = ["system", "light", "dark"];
  function theme() { return root.dataset.theme || "system"; }
  function label() {
    toggle.setAttribute("aria-label", "Colours: " + (theme() === "system" ? "as the system" : theme()));
    toggle.title = toggle.getAttribute("aria-label");
  }
  if (toggle) {
    toggle.hidden = false;
    label();
    toggle.addEventListener("click", function () {
      var next = states[(states.indexOf(theme()) + 1) % states.length];
      if (next === "system") delete root.dataset.theme; else root.dataset.theme = next;
      try {
        if (next === "system") localStorage.removeItem("rebench-theme"); else localStorage.setItem("rebench-theme", next);
      } catch (e) { /* the choice lasts for this page */ }
      label();
      document.dispatchEvent(new CustomEvent("rebench:theme", { detail: next }));
    });
  }

  // "/" goes to the search box.
  var search = document.getElementById("search");
  document.addEventListener("keydown", function (e) {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || !search) return;
    var t = e.target;
    if (t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)) return;
    e.preventDefault();
    search.focus();
    search.select();
  });

  // On a phone the page list scrolls; the current page stays in sight.
  var here = document.querySelector(".nav [aria-current]");
  if (here) here.closest(".nav").scrollLeft = Math.max(0, here.offsetLeft - 48);

  // Settings fold into one line on a phone.
  if (matchMedia("(max-width: 640px)").matches) {
    document.querySelectorAll("[data-fold-on-phone]").forEach(function (d) { d.open = false; });
  }

  // Escape and a click elsewhere close open menus.
  function closeMenus(except) {
    document.querySelectorAll("details.more[open], details.cite[open]").forEach(function (d) {
      if (!except || !d.contains(except)) d.open = false;
    });
  }
  document.addEventListener("click", function (e) { closeMenus(e.target); });
  document.addEventListener("keydown", function (e) {
    if (e.key !== "Escape") return;
    var open = document.querySelector("details.more[open], details.cite[open]");
    closeMenus(null);
    if (open) open.querySelector("summary").focus();
  });

  // Filters apply when a choice is made.
  document.querySelectorAll("form[data-auto]").forEach(function (form) {
    form.addEventListener("change", function (e) {
      if (e.target.tagName === "SELECT" || e.target.type === "checkbox") form.requestSubmit();
    });
  });

  // Empty fields need not stand in the address.
  document.querySelectorAll("form[method=get]").forEach(function (form) {
    form.addEventListener("submit", function () {
      form.querySelectorAll("input, select").forEach(function (f) {
        if (f.name && f.value === "") f.disabled = true;
      });
      setTimeout(function () {
        form.querySelectorAll("input, select").forEach(function (f) { f.disabled = false; });
      }, 0);
    });
  });

  // Copying citations and hashes.
  if (navigator.clipboard) {
    document.querySelectorAll("[data-copy]").forEach(function (b) {
      b.hidden = false;
      var words = b.textContent;
      b.addEventListener("click", function () {
        navigator.clipboard.writeText(document.getElementById(b.dataset.copy).textContent).then(function () {
          b.textContent = "Copied";
          setTimeout(function () { b.textContent = words; }, 1500);
        });
      });
    });
  }

  // The moment of an attempt that the address names: #t=5400.
  function moment() {
    var m = /^#t=([0-9.]+)$/.exec(location.hash);
    document.querySelectorAll(".entry-current").forEach(function (n) { n.classList.remove("entry-current"); n.removeAttribute("aria-current"); });
    if (!m) return;
    var rows = document.querySelectorAll("[data-t='" + m[1] + "']");
    rows.forEach(function (n) { n.classList.add("entry-current"); });
    var row = document.querySelector("tr[data-t='" + m[1] + "']");
    if (row) { row.setAttribute("aria-current", "true"); row.scrollIntoView({ block: "nearest" }); }
    document.dispatchEvent(new CustomEvent("rebench:moment", { detail: Number(m[1]) }));
  }
  window.addEventListener("hashchange", moment);
  moment();
})();
