throw new Error("its database driver is missing");
